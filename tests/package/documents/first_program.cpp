#include "README/a_first_program.inc"
