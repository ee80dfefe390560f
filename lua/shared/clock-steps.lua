-- Tokens rise if the newest is remembered, or the clock is past it. So a key with a newest token is kept until then,
-- however far the clock has stepped back.

-- How many milliseconds the clock is behind a token; 0: not behind.
local function behind_ms(token, now_ms)
  return math.max(0, math.ceil(token / 1000) - now_ms)
end

-- Clearing a key leaves its newest token if the clock has stepped back: so later tokens are still greater.

-- A smaller step of the clock is over before the next call.
local LEAST_BEHIND_MS = 10
-- Longer than any call is repeated.
local OUTLIVES_MS = 600000

-- An unused token greater than the newest, and for how long to keep it; nil if the clock is past that.
local function token_to_leave(newest, now_ms)
  local ms = behind_ms(newest, now_ms)
  if ms < LEAST_BEHIND_MS then
    return nil
  end
  return string.format('%.0f', newest + 1), ms + OUTLIVES_MS
end
