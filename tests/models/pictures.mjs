// Pictures for networks to look at, the same numbers as in real_models_test.cpp: what pixel (x,y) of three channels is.
// A head and shoulders before a wall:
export function portrait(x, y, width, height, c) {
  const u = (x / width) * 256 - 128, v = (y / height) * 256;
  const inEllipse = (row, a, b, column = 0) => ((u - column) / a) ** 2 + ((v - row) / b) ** 2 < 1;
  if (inEllipse(104, 4, 4, -14) || inEllipse(104, 4, 4, 14) || inEllipse(134, 10, 3)) return [0.4, 0.2, 0.15][c];
  if (inEllipse(108, 36, 48) && v > 78) return [0.88, 0.69, 0.56][c];
  if (inEllipse(95, 46, 58)) return [0.23, 0.16, 0.13][c];
  if (inEllipse(256, 90, 76) && v > 180) return [0.18, 0.27, 0.41][c];
  if (Math.abs(u) < 16 && v > 100 && v < 200) return [0.85, 0.66, 0.53][c];
  return [0.72, 0.77, 0.81][c] - (v / 256) * 0.16;
}

// And dark letters on white, in squares of a 48th of the width.
const letters = [
  '#####.#####..####..####.#####.####...###.',
  '..#...#.....#.....#.....#.....#...#.#...#',
  '..#...#.....#.....#.....#.....#...#.#...#',
  '..#...####...###...###..####..####..#####',
  '..#...#.........#.....#.#.....#.#...#...#',
  '..#...#.........#.....#.#.....#..#..#...#',
  '..#...#####.####..####..#####.#...#.#...#',
];
export function writing(x, y, width, height) {
  const size = Math.floor(width / 48);
  const row = Math.floor((y - Math.floor(height / 2)) / size + 3.5), column = Math.floor(x / size) - 3;
  return letters[row]?.[column] === '#' ? 0.1 : 0.9;
}

export function picture(shape, isLast, colour) {
  const [height, width] = isLast ? [shape[1], shape[2]] : [shape[2], shape[3]];
  const values = new Float32Array(height * width * 3);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++)
      for (let c = 0; c < 3; c++)
        values[isLast ? (y * width + x) * 3 + c : (c * height + y) * width + x] = colour(x, y, width, height, c);
  return values;
}
