// There are no workgroups here: an invocation is a team of its own.

vec4 row_team_largest(vec4 found, uint slot, uint local) { return row_largest(found); }

vec4 row_team_sum(vec4 found, uint slot, uint local) { return row_sum(found); }
