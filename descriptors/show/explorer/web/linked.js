"use strict";
/** The boxes of blocks of elements [row, column, rows, columns] on a picture, in its coordinates. */
function placesOf(picture, blocks, piece) {
  const found = [];
  for (const grid of picture?.grids ?? []) {
    const wide = grid.width / grid.columns, high = grid.height / grid.rows;
    const box = (row, column, rows, columns) => found.push({ x: grid.x + column * wide, y: grid.y + row * high, width: columns * wide, height: rows * high });
    if (grid.cells) {  // a cell is 16 bytes, given by their first element
      const meets = ([i, k]) => blocks.some(([row, column, rows, columns]) => i < row + rows && i + piece[0] > row && k < column + columns && k + piece[1] > column);
      grid.cells.forEach((line, i) => line.forEach((at, j) => { if (at && meets(at)) box(i, j, 1, 1); }));
      continue;
    }
    for (const [row, column, rows, columns] of blocks) {
      const top = Math.max((row - grid.origin[0]) / grid.step[0], 0), left = Math.max((column - grid.origin[1]) / grid.step[1], 0);
      const bottom = Math.min((row + rows - grid.origin[0]) / grid.step[0], grid.rows), right = Math.min((column + columns - grid.origin[1]) / grid.step[1], grid.columns);
      if (top < bottom && left < right) box(top, left, bottom - top, right - left);
    }
  }
  return found;
}

/** The digit of an element in a mode, and the blocks that the mode walks over from that element. */
const digitOf = (mode, cell) => Math.floor(cell[mode.axis] / mode.period) % mode.extent;
function walkOf(mode, cell) {
  const here = digitOf(mode, cell);
  return Array.from({ length: mode.extent }, (_, there) => {
    const at = [...cell];
    at[mode.axis] += (there - here) * mode.period;
    return [...at.map((one, i) => Math.floor(one / mode.block[i]) * mode.block[i]), ...mode.block];
  });
}

/** How often a field is added for an element of the subtile that begins at a corner; 0 for an element outside it. */
function countOf(field, corner, extents, cell) {
  const [i, k] = [cell[0] - corner[0], cell[1] - corner[1]];
  if (i < 0 || k < 0 || i >= extents[0] || k >= extents[1]) return 0;
  return field.boxes.find(([, row, column, rows, columns]) => i >= row && i < row + rows && k >= column && k < column + columns)?.[0] ?? 0;
}
