-- The entries of such a text, the oldest first, and how many were dropped; see shared/queue/entries.
local function list_entries(packed)
  local entries, at = {}, 5
  if not packed then
    return entries, 0
  end
  while at <= #packed do
    local entry, behind = struct.unpack('>Hc0', packed, at)
    entries[#entries + 1] = entry
    at = behind
  end
  return entries, struct.unpack('>I4', packed) - #entries
end
