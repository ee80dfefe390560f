-- One that stands first and does not take what is free keeps all others waiting: it wants more than that, or to have a lock alone, or it
-- may not be told. As long as it lives it asks every two seconds. One that does not, although others look, sleeps, or has died where the
-- server cannot tell, and its tickets are sent back. A look is noted behind the point of the ticket's number, in thousandths:
--   0            nobody has looked since it asked
--   1 to 400     the second, of 400, in which another one looked and told it that it is the first, if it may be told
--   401 to 800   the second in which it was told once more, for it had not asked for a while
local SILENT_S = 4
local LOOKED_S = 400

-- Answers whether this ticket, which was looked at just now, has not asked although it was looked at twice before.
-- `own` looks.
local function is_silent(queue, ticket, own, now_ms)
  if process_of({ id = own }) == process_of(ticket) then
    return false
  end
  local score = tonumber(redis.call('ZSCORE', queue, ticket.text))
  local number = math.floor(score)
  local noted, second = math.floor((score - number) * 1000 + 0.5), math.floor(now_ms / 1000) % LOOKED_S
  local told = math.ceil(noted / LOOKED_S)
  if told > 0 and (second + 1 - noted) % LOOKED_S < SILENT_S then
    return false
  elseif told == 2 then
    return true
  end
  local noted_now = told * LOOKED_S + second + 1
  -- A full server may refuse it to one who gives something back: then the next one who looks notes it.
  redis.pcall('ZADD', queue, 'XX', string.format('%.3f', number + noted_now / 1000), ticket.text)
  return false
end

-- Sends back the process of this ticket if it is silent. Answers whether it was.
local function pass_silent(queue, ticket, own, now_ms, how)
  if not is_silent(queue, ticket, own, now_ms) then
    return false
  end
  send_back(queue, { [process_of(ticket)] = true }, own, how)
  return true
end
