// Computes what the page asks for, beside it: { catalogue } first, then { id, asked }; a newer question ends the older one.
// The exported methods stand before it in its script, as `self.code`.

import { computed } from "./motion.js";
import { checked, Refused } from "./request.js";

let catalogue, newest;

class Late extends Error {}

self.onmessage = async ({ data }) => {
  if (data.catalogue) return void (catalogue = data.catalogue);
  const { id, asked } = data,
    say = (line) => self.postMessage({ id, line });
  newest = id;
  const tell = async (state, method, share) => {
    say({ state, method, share });
    await new Promise((go) => setTimeout(go)); // let newer questions in
    if (newest !== id) throw new Late();
  };
  try {
    say(await computed(checked(asked, catalogue), catalogue, self.code, tell));
  } catch (error) {
    if (error instanceof Refused) say({ refused: error.fields });
    else if (!(error instanceof Late)) throw error;
  }
};
