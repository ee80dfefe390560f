-- From ids to places. A message that was delayed has a position other than its id.

-- For each id its position; nil for one that is still delayed.
local function places_of(parked, ids, ids_at)
  local asked, places = {}, {}
  for at = ids_at, #ids, 1 do
    asked[#asked + 1] = ids[at]
  end
  if #asked == 0 then
    return places
  end
  for at, known in ipairs(redis.call('HMGET', parked, unpack(asked))) do
    local place = { id = asked[at], position = asked[at] }
    if known then
      place.position = string.match(known, '^@(%d+)$')
      place.parked = not place.position and known or nil
    end
    places[at] = place
  end
  return places
end
