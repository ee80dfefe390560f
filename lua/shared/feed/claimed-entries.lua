-- The entries of one claim, oldest first.
local function claimed_entries(log, claimed, work, token)
  local entries = {}
  for at, place in ipairs(places_held(claimed, token)) do
    entries[at] = entry_at(log, place)
  end
  complete_entries(work, entries)
  return entries
end
