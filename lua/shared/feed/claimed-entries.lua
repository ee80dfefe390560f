-- The entries of one claim, oldest first.
local function claimed_entries(feed, keys, token)
  local entries = {}
  for _, place in ipairs(places_held(keys.claimed, token)) do
    entries[#entries + 1] = entry_at(feed, keys, place)
  end
  complete_entries(keys.work, entries)
  return entries
end
