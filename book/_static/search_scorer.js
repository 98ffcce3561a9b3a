// The chapter first whose title begins with what was typed, then its other pages.
var Scorer = {
  score: ([page, title, anchor, , score]) => {
    const typed = new URLSearchParams(location.search).get("q")?.trim().toLowerCase();
    const name = title.toLowerCase().replace(/<[^>]*>/g, "").replace(/^[\d.]+ /, "").replace(/^(the|an?) /, "");
    if (!typed || anchor || !name.startsWith(typed)) return score;
    const below = Search._index.docnames.some((other) => page.startsWith(`${other}-`));
    return score + (below ? 500 : 1000);
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
