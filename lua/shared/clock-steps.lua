-- Tokens rise where the newest is remembered, or the clock is past it. So what holds a newest token is kept until then, however
-- far the clock has stepped back.

-- How many milliseconds the clock is behind a token; 0: it is not.
local function behind_ms(token, now_ms)
  return math.max(0, math.ceil(token / 1000) - now_ms)
end

-- What is cleared leaves its newest token behind where the clock has stepped back: those that are given after it are greater
-- all the same.

-- A smaller step of the clock is over before anybody asks.
local LEAST_BEHIND_MS = 10
-- Longer than any call is repeated.
local OUTLIVES_MS = 600000

-- A token that nobody has had, greater than the newest, and for how long to keep it; nil where the clock is past that.
local function token_to_leave(newest, now_ms)
  local ms = behind_ms(newest, now_ms)
  if ms < LEAST_BEHIND_MS then
    return nil
  end
  return string.format('%.0f', newest + 1), ms + OUTLIVES_MS
end
