# Writes each block of C++ in a Markdown document to FOLDER/<heading>.inc, the second one under a heading to
# FOLDER/<heading>_2.inc and so on, and prints these names. Compilers then name the document's lines.
/^#+ / && !file {
  heading = tolower($0)
  gsub(/[^a-z0-9]+/, "_", heading)
  gsub(/^_|_$/, "", heading)
}
/^ *```cpp$/ {
  name = heading (++count[heading] > 1 ? "_" count[heading] : "") ".inc"
  file = FOLDER "/" name
  print "#line " FNR + 1 " \"" FILENAME "\"" > file
  next
}
/^ *```$/ && file {
  close(file)
  file = ""
  print name
}
file { print > file }
