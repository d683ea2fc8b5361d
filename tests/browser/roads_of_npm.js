/* The roads of shoes as the npm package baccarat-engine makes them. A shoe is a text of P, B and T.
   Its modules are CommonJS; lodash has made itself `_` already. */
(sources) => {
  const modules = { lodash: window._ };
  const load = (name) => {
    const module = {};
    new Function("module", "require", sources[name])(module, (wanted) => modules[wanted]);
    return module.exports;
  };
  modules["../gameResult.js"] = load("gameResult.js");
  const generator = new (load("roadmapGenerator.js"))();
  const outcomes = { P: "player", B: "banker", T: "tie" };
  const letters = { player: "P", banker: "B", tie: "T" };
  const board = { columns: 200, rows: 6, scroll: false };

  window.roadsOf = (shoe) => {
    const results = Array.from(shoe, (letter) => ({ outcome: outcomes[letter], natural: "none", pair: "none" }));
    const bigRoad = generator.bigRoad(results, board);
    return {
      bead_plate: generator.beadPlate(results, board).map((bead) => [bead.column, bead.row, letters[bead.result.outcome]]),
      big_road: bigRoad.map((mark) => [
        mark.column,
        mark.row,
        letters[mark.result.outcome] ?? "",
        mark.ties.length,
        mark.logicalColumn,
      ]),
      derived: [generator.bigEyeRoad(bigRoad), generator.smallRoad(bigRoad), generator.cockroachPig(bigRoad)],
    };
  };
};
