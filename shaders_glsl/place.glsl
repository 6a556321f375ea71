// The place of a texel in rows of that width. Software drivers divide integers one by one; a row found by dividing
// floats is wrong by one at the most, since there are no more than 2^14 rows.
ivec2 place(int texel, int width) {
  int row = int(float(texel) / float(width)), column = texel - row * width;
  row += int(column >= width) - int(column < 0);
  return ivec2(texel - row * width, row);
}

