-- The entries of one claim, oldest first.
local function claimed_entries(log, claimed, work, token)
  local entries = {}
  for at, position in ipairs(positions_of(claimed, token)) do
    entries[at] = entry_at(log, position)
  end
  complete_entries(work, entries)
  return entries
end
