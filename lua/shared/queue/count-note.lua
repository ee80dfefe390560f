-- A note of jobs that are only counted.
local function count_note(kind, name, count)
  local key = #name < 255 and kind .. name or kind
  return struct.pack(NOTE, #key, key, 0, count, 0, 0)
end
