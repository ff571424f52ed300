"use strict";
/** The stored answers of a frozen page about every element of its state, which are unpacked once. */
function keptIn(text) {
  let held = null;
  const open = async () => {
    const bytes = Uint8Array.from(atob(text), (one) => one.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).json();
  };
  const fill = (sentence, values) => sentence.replace(/\{(\w+):?([^}]*)\}/g, (_, name, form) =>
    form === "x" ? `0x${values[name].toString(16)}` : form ? form.split("|")[values[name]] : String(values[name]));
  /** The answer about another element [row, column], derived from that of the state; null if none is stored. */
  return async (cell, tab, answer, picture) => {
    if (!text) return null;
    held ??= await open();
    const { extents, columns, sentences, subtiles } = held;
    if (!cell.every((one, i) => one < extents[i])) return null;
    const number = cell[0] * extents[1] + cell[1], values = {};
    for (const [name, column] of Object.entries(columns)) values[name] = Array.isArray(column) ? column[number] : column;
    const subtile = [values.subtile_mn, values.subtile_k], { concerned, ...own } = subtiles[subtile[0]][subtile[1]];
    values.word = own.word;
    const marks = (held.marks[tab] ?? []).flatMap(([role, high, wide, where]) => { const block = [high, wide]; return (
      placesOf({ grids: picture.grids?.filter((grid) => Boolean(grid.cells) === Boolean(where)) }, [[...cell.map((one, i) => Math.floor(one / block[i]) * block[i]), ...block]], answer.links.piece).map((box) => ({ role, ...box }))); });
    const same = String(answer.told.subtiles.chosen) === String(subtile);
    return {
      ...answer,
      told: { ...answer.told, ...own, subtiles: { ...answer.told.subtiles, chosen: subtile } },
      edited: same ? answer.edited : null,
      links: { ...answer.links, word: own.word, fields: concerned },
      stage: picture.svg ? { ...picture, marks } : picture,
      inspector: { ...values, cell, subtile, formula: fill(sentences.formula, values), general: sentences.general, kinds: sentences.kinds, facts: sentences.facts.map(([name, sentence]) => [name, fill(sentence, values)]) },
    };
  };
}
