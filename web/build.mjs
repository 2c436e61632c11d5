// Builds the viewer into src/polhode/show/view/static: one script, one style sheet, the playground's worker, the licences of what is inside, and a digest of
// the sources, by which the tests know whether the built files are of these sources.

import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const out = join(here, "..", "src", "polhode", "show", "view", "static");
const sources = [
  "build.mjs",
  "package.json",
  "package-lock.json",
  ...readdirSync(join(here, "src")).map((name) => `src/${name}`),
].sort();

const digest = createHash("sha256");
for (const name of sources)
  digest
    .update(`${name}\0`)
    .update(readFileSync(join(here, name)))
    .update("\0");

const licence = (name) => {
  const { version } = JSON.parse(readFileSync(join(here, "node_modules", name, "package.json")));
  return `${name} ${version}\n\n${readFileSync(join(here, "node_modules", name, "LICENSE"), "utf8").trim()}\n`;
};

mkdirSync(out, { recursive: true });
await build({
  entryPoints: { viewer: join(here, "src", "main.js"), worker: join(here, "src", "worker.js") },
  outdir: out,
  bundle: true,
  minify: true,
  format: "iife",
  globalName: "polhode",
  target: ["es2022"],
  charset: "utf8",
  legalComments: "none",
  logLevel: "warning",
  banner: { js: "/* polhode's viewer, with three.js and uPlot inside (MIT licence; see NOTICE). Built from web/. */" },
});
writeFileSync(join(out, "NOTICE"), `viewer.js contains these libraries.\n\n${["three", "uplot"].map(licence).join("\n---\n\n")}`);
writeFileSync(join(out, "sources.sha256"), `${digest.digest("hex")}\n`);
