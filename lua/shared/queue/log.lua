-- The log of a job, in the hash of jobs under 'l' and its number: its newest lines, each behind the time at which it came.
local MOST_LINES = 100
local MOST_LINE_BYTES = 1024

-- No part of a letter at the end.
local function add_line(packed, line, at_ms)
  local last = math.min(#line, MOST_LINE_BYTES)
  while last < #line and string.find(line, '^[\128-\191]', last + 1) do
    last = last - 1
  end
  return add_entry(packed, struct.pack('>d', at_ms) .. string.sub(line, 1, last), MOST_LINES, 0)
end
