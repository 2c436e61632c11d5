"""What is misprinted in Buss's paper and slides."""

from polhode.papers import enter_errata

enter_errata(
    "buss-2001",
    (
        "section 3, rolling disk",
        "tan(φ/2) = … = rθ/2(r−h)",
        "rφ/2(r−h)",
        "the letter θ is used for nothing else there",
    ),
    (
        "section 3, rolling disk",
        "h ≈ φ²r/(12 − φ²)",
        "φ²r/(12 + φ²)",
        "the algebra; see fig2. Harmless: both are φ²r/12 + O(φ⁴)",
    ),
    ("section 3, first-order method", "E = (ρ·L/2)²", "E = (ρ·L)²/2", "equation (15)"),
    (
        "equation (9) and the fourth-order box",
        "dots are lost in the text at hand: 2ω × ω̇ − …, h³/24 ω̈ + h³/24 ω̇ × ω",
        "2ω × ω̈ − …, h³/24 ω⃛ + h³/24 ω̈ × ω",
        "the derivative of (8) and the series of section 5; otherwise not of fourth order",
    ),
    (
        "section 3, Simo-Wong",
        "“γ = 1 and β = 1” in the text",
        "γ = 1 and β = 0",
        "the heading of the box",
    ),
    ("section 3, Cayley transforms", "sin x ≈ t/(1+t²/4)", "sin t ≈ t/(1+t²/4)", "one variable"),
    (
        "section 3, costs with Cayley transforms",
        "0.53 and 0.98 with and without energy preservation",
        "without and with",
        "energy preservation costs something",
    ),
    (
        "section 3, energy preservation",
        "one divide, three square roots and one rotation: 95 multiplications",
        "90",
        "12 of 14 costs of figure 3 follow with 90, 5 with 95; see fig3",
    ),
    (
        "figure 3, symplectic second order with energy preservation",
        "1.20",
        "1.30",
        "0.84 + 0.46; see fig3",
    ),
    (
        "section 3, third against augmented second order",
        "one matrix times vector and one cross product more",
        "25 multiplications more",
        "the paper’s own counts, 61 and 36",
    ),
    (
        "section 3, averages of rotations",
        "expressed as quaternions and averaged in 4-space",
        "averages of rotation vectors",
        "only these reproduce the printed energies; see fig5",
    ),
    (
        "section 4, algorithm",
        "ρ = ν/(|ν|√𝓘) with 𝓘 = ν·Jν",
        "ρ = ν/√(ν·Jν)",
        "ρ·Jρ = 1 (12) fails by |ν|² otherwise",
    ),
    (
        "section 5, after (22)",
        "(B_q/q!) ad(Y)ⁿ for n = 0, 1, 2, 4, …",
        "(B_n/n!) ad(Y)ⁿ",
        "one index; B_q are Bernoulli numbers",
    ),
    (
        "section 5, coefficient of t",
        "Y₁ − ½[Y₀, X₀], Y₁ = X₁",
        "½[Y₀, Y₀] = 0, Y₁ = W₁; left and right are exchanged in the text",
        "equation (17)",
    ),
    (
        "section 5, coefficient of t²",
        "½([Y₀, Y₁] + ¼[Y₁, Y₀])",
        "½([Y₀, Y₁] + ½[Y₁, Y₀])",
        "only this equals −¼[Y₁, Y₀]",
    ),
    ("section 5, (19)", "y′(t) = W(t)", "y′ = W y", "y is in the group, W in the algebra"),
    (
        "section 6, the body",
        "prism of 1 : 4 : 18",
        "J = (19/60, 3/100, 47/150), |L| = 3",
        "with the prism neither 82.1053 nor any table is reproduced, with these 81 of 83 energies to the last digit; see fig1",
    ),
    (
        "section 6, the momentum",
        "at 45° to the two axes of least angular momenta",
        "between the axes of largest and least moment",
        "see fig1",
    ),
    (
        "figures 4 and 5, headings",
        "N steps",
        "N − 1 steps",
        "only N − 1 steps reproduce the energies",
    ),
    (
        "figure 4, fourth order, h = 0.002",
        "82.1177",
        "82.1175",
        "the drift grows as h⁵ from column to column; see fig4",
    ),
    (
        "figure 4, AB-AM, h = 0.004",
        "149.999",
        "149.998",
        "149.9977 computed; 149.999 is the last column of figure 5",
    ),
    (
        "section 6, mean rotations of figure 4",
        "between 8.2 and 16.3 degrees",
        "8.1 and 16.3",
        "the heading of the table",
    ),
    (
        "figure 6, augmented second order, T = 0.4, ε = 0.001",
        "θ = 210",
        "θ = 8.39",
        "the whole rotation over N − 1; 210 is the N of the line below",
    ),
    (
        "figure 7, McLachlan-Reich 2-3-1, T = 4, ε = 1e-6",
        "N > 40960 failed",
        "37527, with energy preservation 29851",
        "errors of 8.4e-7 and 5.3e-7 after 40960 steps; why they failed is not known; see fig7",
    ),
    (
        "figure 7, fourth-order symplectic with energy preservation, T = 40, ε = 1e-6",
        "N > 163840 failed",
        "18113",
        "the error after 163840 steps is 1e-9 rad; why it failed is not known; see fig7",
    ),
    ("section 6", "long-term simulations reported in Figure 8", "figure 7", "there is no figure 8"),
    (
        "section 6, orders",
        "a method of order p has the error O(1/Nᵖ) per step and O(1/Nᵖ⁻¹) overall; a fourth-order method "
        "gains a factor 8 "
        "from doubling N",
        "O(1/Nᵖ⁺¹) per step, O(1/Nᵖ) overall, a factor 16",
        "measured orders 3 and 4; see fig7",
    ),
    (
        "section 6, Simo-Wong as run",
        "ν + (h/2)a with a = (ν_i − ν_{i−1})/h, in the box",
        "the program had ν + (h²/2)a",
        "only this reproduces the rows; the box is right and of second order; see fig6",
    ),
    (
        "section 6, AB-AM as run",
        "nothing is said",
        "the predicted velocity was used in the frame of the current attitude",
        "only this reproduces the rows; see fig6",
    ),
    (
        "section 6",
        "fourth order did significantly than third order",
        "significantly better than",
        "a word is lost",
    ),
)

enter_errata(
    "buss-2001-slides",
    (
        "results, caption of both tables",
        "accuracy of ε = 10⁻⁶",
        "T = 4, ε = 0.001",
        "the numbers are that column of figure 6",
    ),
    (
        "fifth-order formula for Z",
        "− h⁵/1440 [W₀, W₀, Ẇ₀, W₀]",
        "no such term",
        "it costs an order; it is not in Y₅ either",
    ),
    (
        "fifth-order formula for Z",
        "Fifth-order accurate formula",
        "sixth-order, as in the paper",
        "terms to h⁵; see slides",
    ),
    ("(d exp)", "y′(t) = W(t)", "y′ = W y", "as in the paper"),
    ("relative costs", "1.20", "1.30", "as in figure 3"),
    (
        "part II",
        "[·,·] is a Lie group product, u, v are Lie group elements",
        "the bracket of the Lie algebra",
        "the next sentence",
    ),
    ("part III", "ρ = ω/√I", "ρ = ν/√(ν·Jν)", "ρ·Jρ = 1"),
)
