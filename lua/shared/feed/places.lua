-- From ids to places: a message that was delayed has a place other than its id.

-- For each id, named twice or not, one table with `id`, how many ids were named up to it (`at`), and either its `place` (whether
-- or not something is there) or, for a message that is still delayed, what is `parked`.
local function look_up(parked, ids, ids_at)
  local asked, ats, found, seen = {}, {}, {}, {}
  for at = ids_at, #ids, 1 do
    if not seen[ids[at]] then
      asked[#asked + 1] = ids[at]
      seen[ids[at]] = true
    end
    ats[#asked] = at - ids_at + 1
  end
  if #asked == 0 then
    return found
  end
  for at, known in ipairs(redis.call('HMGET', parked, unpack(asked))) do
    local moved_to = string.match(known or '', '^@(%d+)$')
    if known and not moved_to then
      found[at] = { id = asked[at], at = ats[at], parked = known }
    else
      found[at] = { id = asked[at], at = ats[at], place = moved_to or asked[at] }
    end
  end
  return found
end
