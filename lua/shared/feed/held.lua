-- Which messages live claims hold.

-- Which of the entries a live claim holds: place -> token.
local function find_claimed(claimed, leases, entries, now_ms)
  local held = {}
  if #entries == 0 or redis.call('EXISTS', leases) == 0 then
    return held
  end
  local places = {}
  for at, entry in ipairs(entries) do
    places[at] = entry.place
  end
  local live = {}
  for at, token in ipairs(redis.call('ZMSCORE', claimed, unpack(places))) do
    if token then
      if live[token] == nil then
        live[token] = is_live(leases, token, now_ms)
      end
      held[places[at]] = live[token] and token or nil
    end
  end
  return held
end

-- Tells which claim holds a message; nothing when none does.
local function tell_claim(answer, position, token)
  if token then
    answer[#answer + 1] = position
    answer[#answer + 1] = tonumber(token)
  end
end
