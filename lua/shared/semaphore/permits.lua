-- The main key of a semaphore, one text:
-- '<layout> <limit> <resized> <used> <token> <soonest_end_ms> <last_end_ms> <last_ticket>'.
--   limit           the newest one that came with an attempt; once `resized`, that of `resize` alone
--   used            weight of all granted permits, including those whose end has not been noticed yet
--   token           the newest one granted; it outlives its permit, so that tokens rise
--   soonest_end_ms  no permit ends earlier
--   last_end_ms     no permit ends later
--   last_ticket     number of the newest ticket; 0: no waiters, and the queue is not read
local SEMAPHORE_LAYOUT = '1'

-- A semaphore of an unknown layout has nothing but `layout`. The token stays text: it is copied. The table also has the
-- time of the call, and, for calls that grant permits to waiters, `claim_ms` and `how`; see shared/line.
local function read_semaphore(state, now_us)
  local stored = redis.call('GET', state)
  if not stored then
    return {
      layout = SEMAPHORE_LAYOUT,
      limit = 0,
      resized = 0,
      used = 0,
      token = '0',
      soonest_end_ms = 0,
      last_end_ms = 0,
      last_ticket = 0,
      now_us = now_us,
      now_ms = math.floor(now_us / 1000),
    }
  end
  local layout, limit, resized, used, token, soonest, last, last_ticket =
    string.match(stored, '^(%d+) (%d+) (%d) (%d+) (%d+) (%d+) (%d+) (%d+)$')
  if layout ~= SEMAPHORE_LAYOUT then
    return { layout = string.match(stored, '^%S*') }
  end
  return {
    layout = layout,
    limit = tonumber(limit),
    resized = tonumber(resized),
    used = tonumber(used),
    token = token,
    soonest_end_ms = tonumber(soonest),
    last_end_ms = tonumber(last),
    last_ticket = tonumber(last_ticket),
    now_us = now_us,
    now_ms = math.floor(now_us / 1000),
  }
end

local function open_semaphore(state, now_us)
  local semaphore = read_semaphore(state, now_us)
  if semaphore.layout ~= SEMAPHORE_LAYOUT then
    return redis.error_reply('LAYOUT ' .. semaphore.layout)
  end
  return nil, semaphore
end

-- Whether so much is free.
local function fits(semaphore, weight)
  return semaphore.used + weight <= semaphore.limit
end

-- The granted permits: a sorted set of tokens by the time at which they end, and a hash that maps the id of an attempt
-- to its token ('i<id>'), and the token to '<weight> <id> <holder>'. Bound on expired permits removed by one call.
local MOST_REAPED = 1000

-- A permit without entry has no weight: a missing right stopped the script before it was written.
local function parse_permit(text)
  local weight, id, holder = string.match(text or '0 - ', '^(%d+) (%S+) (.*)$')
  return { weight = tonumber(weight), id = id, holder = holder }
end

-- The token of the permit of this attempt, and when it ends. Both are nil if it has none.
local function permit_of(keys, id)
  local token = redis.call('HGET', keys.ids, 'i' .. id)
  if not token then
    return nil, nil
  end
  return token, tonumber(redis.call('ZSCORE', keys.permits, token) or 0)
end

-- Writes the main key of a semaphore.

-- How long an unused semaphore is remembered. Longer than its permits, which are removed a minute to eleven after the
-- last of them has ended: otherwise removing uncounted permits would reduce the count of others.
local SEMAPHORE_KEPT_MS = 720000
-- One with waiters outlives the longest wait.
local AWAITED_SEMAPHORE_KEPT_MS = 7200000
-- A configured limit is not forgotten over a quiet weekend.
local RESIZED_SEMAPHORE_KEPT_MS = 2592000000

local function semaphore_text(semaphore)
  return string.format(
    '%s %d %d %d %s %.0f %.0f %d',
    SEMAPHORE_LAYOUT,
    semaphore.limit,
    semaphore.resized,
    -- A right that was missing for a while may have left it too low.
    math.max(0, semaphore.used),
    semaphore.token,
    semaphore.soonest_end_ms,
    semaphore.last_end_ms,
    semaphore.last_ticket
  )
end

local function semaphore_kept_ms(semaphore)
  local kept_ms = semaphore.last_ticket > 0 and AWAITED_SEMAPHORE_KEPT_MS or SEMAPHORE_KEPT_MS
  if semaphore.resized == 1 then
    kept_ms = RESIZED_SEMAPHORE_KEPT_MS
  end
  local left_ms =
    math.max(semaphore.last_end_ms - semaphore.now_ms, behind_ms(semaphore.token, semaphore.now_ms))
  return string.format('%.0f', left_ms + kept_ms)
end

-- `is_saved`: whether nothing has changed since. Removing permits, and the end of the line, clear it.
local function save_semaphore(keys, semaphore)
  redis.call('SET', keys.state, semaphore_text(semaphore), 'PX', semaphore_kept_ms(semaphore))
  semaphore.is_saved = true
end

-- As `save_semaphore`, for a call that releases something: its first write is one that a full server accepts.
local function save_freed_semaphore(keys, semaphore)
  redis.call('PEXPIRE', keys.state, semaphore_kept_ms(semaphore))
  save_semaphore(keys, semaphore)
end

local function save_changed(keys, semaphore, dirty)
  if dirty then
    save_semaphore(keys, semaphore)
  end
end

-- Grants and removes permits.
local PERMITS_KEPT_MS = 60000
-- The expiry of the keys is moved in steps, so that most grants need not move it.
local KEPT_STEP_MS = 600000

-- Removes permits, live or not. Returns them. Removes nothing if a right is missing: a permit that is removed in part
-- would be used for as long as there are others.
local function forget_permits(keys, semaphore, tokens)
  local known = redis.call('HMGET', keys.ids, unpack(tokens))
  local fields, forgotten = {}, {}
  for at, token in ipairs(tokens) do
    local permit = parse_permit(known[at])
    forgotten[at] = permit
    semaphore.used = semaphore.used - permit.weight
    fields[#fields + 1] = token
    fields[#fields + 1] = 'i' .. permit.id
  end
  redis.call('ZREM', keys.permits, '')
  redis.call('HDEL', keys.ids, unpack(fields))
  redis.call('ZREM', keys.permits, unpack(tokens))
  semaphore.is_saved = false
  return forgotten
end

-- Finds when the next permit ends. Without permits nothing is used. Without the right to look, the time stays: none ends
-- earlier.
local function look_ahead(keys, semaphore)
  local first = redis.pcall('ZRANGE', keys.permits, '0', '0', 'WITHSCORES')
  if first.err then
    return
  end
  semaphore.soonest_end_ms = tonumber(first[2] or 0)
  if not first[2] then
    semaphore.used = 0
    semaphore.last_end_ms = 0
  end
end

-- Ends one permit that is live. Returns it.
local function end_permit(keys, semaphore, token, expires_at_ms)
  local permit = forget_permits(keys, semaphore, { token })[1]
  if expires_at_ms == semaphore.soonest_end_ms then
    look_ahead(keys, semaphore)
  end
  return permit
end

-- Saves a semaphore whose permit was released. If that is refused, the permit stays until its lease ends, because the
-- stored state counts it.
local function save_without(keys, semaphore, token, expires_at_ms, permit)
  local text, kept_ms = semaphore_text(semaphore), semaphore_kept_ms(semaphore)
  if redis.pcall('SET', keys.state, text, 'PX', kept_ms).err then
    redis.call('ZADD', keys.permits, expires_at_ms, token)
    local entry = permit.weight .. ' ' .. permit.id .. ' ' .. permit.holder
    redis.call('HSET', keys.ids, token, entry, 'i' .. permit.id, token)
    redis.call('PEXPIRE', keys.permits, kept_ms)
    redis.call('PEXPIRE', keys.ids, kept_ms)
    save_semaphore(keys, semaphore)
  end
  semaphore.is_saved = true
end

-- In how many milliseconds the next permit ends.
local function next_end_in_ms(semaphore)
  return math.max(1, semaphore.soonest_end_ms - semaphore.now_ms)
end

-- The step in which the keys expire: they outlive the last permit, for a while.
local function last_step(semaphore)
  return math.floor((semaphore.last_end_ms + PERMITS_KEPT_MS) / KEPT_STEP_MS) + 1
end

local function permits_kept_ms(semaphore)
  return string.format('%.0f', last_step(semaphore) * KEPT_STEP_MS - semaphore.now_ms)
end

local function keep_permits(keys, semaphore)
  local kept_ms = permits_kept_ms(semaphore)
  redis.call('PEXPIRE', keys.permits, kept_ms)
  redis.call('PEXPIRE', keys.ids, kept_ms)
end

-- The token of the next permit, as text.
local function new_token(semaphore)
  return string.format('%.0f', next_token(semaphore.token, semaphore.now_us))
end

-- An attempt that confirms an offer gets its whole lease. Returns when it ends.
local function confirm_permit(keys, semaphore, token, ends_at_ms, lease_ms)
  local expires_at_ms = math.max(ends_at_ms, semaphore.now_ms + lease_ms)
  semaphore.last_end_ms = math.max(semaphore.last_end_ms, expires_at_ms)
  -- Before ZADD, because a full server accepts this as the first write.
  keep_permits(keys, semaphore)
  redis.call('ZADD', keys.permits, 'XX', expires_at_ms, token)
  if ends_at_ms == semaphore.soonest_end_ms then
    look_ahead(keys, semaphore)
  end
  return expires_at_ms
end

-- Grants a ticket a permit, and saves the state before its entry: a permit without entry has no weight, and one that is
-- not counted would exceed the limit. Where a later write is refused, the permit ends, and the same write is refused again.
local function add_permit(keys, semaphore, ticket, token, expires_at_ms)
  local first, step = semaphore.used == 0, last_step(semaphore)
  local soonest = first and expires_at_ms or semaphore.soonest_end_ms
  local before, soonest_before, last_before = semaphore.token, semaphore.soonest_end_ms, semaphore.last_end_ms
  redis.call('ZADD', keys.permits, expires_at_ms, token)
  semaphore.token = token
  semaphore.used = semaphore.used + ticket.units
  semaphore.soonest_end_ms = math.min(soonest, expires_at_ms)
  semaphore.last_end_ms = math.max(semaphore.last_end_ms, expires_at_ms)
  local text, state_kept_ms = semaphore_text(semaphore), semaphore_kept_ms(semaphore)
  if redis.pcall('SET', keys.state, text, 'PX', state_kept_ms).err then
    redis.call('ZREM', keys.permits, token)
    save_semaphore(keys, semaphore)
  end
  semaphore.is_saved = true
  local permit = ticket.units .. ' ' .. ticket.id .. ' ' .. ticket.holder
  local fields = { token, permit, 'i' .. ticket.id, token }
  if type(redis.pcall('HSET', keys.ids, unpack(fields))) == 'table' then
    semaphore.token, semaphore.used = before, semaphore.used - ticket.units
    semaphore.soonest_end_ms, semaphore.last_end_ms = soonest_before, last_before
    save_semaphore(keys, semaphore)
    redis.call('ZREM', keys.permits, token)
    redis.call('HSET', keys.ids, unpack(fields))
  end
  if first or last_step(semaphore) ~= step then
    local kept_ms = permits_kept_ms(semaphore)
    if type(redis.pcall('PEXPIRE', keys.permits, kept_ms)) ~= 'number' then
      end_permit(keys, semaphore, token, expires_at_ms)
      save_semaphore(keys, semaphore)
    end
    redis.call('PEXPIRE', keys.ids, kept_ms)
  end
end

-- Removes permits whose lease has ended; returns whether there were any. Permits beyond the bound of one call count as
-- used, so the limit holds.
local function reap(keys, semaphore)
  if semaphore.used == 0 or semaphore.soonest_end_ms > semaphore.now_ms then
    return false
  end
  local ended = redis.call(
    'ZRANGEBYSCORE',
    keys.permits,
    '-inf',
    semaphore.now_ms,
    'WITHSCORES',
    'LIMIT',
    '0',
    MOST_REAPED
  )
  local tokens = {}
  for at = 1, #ended, 2 do
    tokens[#tokens + 1] = ended[at]
  end
  if tokens[1] then
    -- A user that may not save must not remove them either: what they used would stay used.
    save_freed_semaphore(keys, semaphore)
    for at, permit in ipairs(forget_permits(keys, semaphore, tokens)) do
      note_late(semaphore, permit.id, tokens[at], ended[2 * at])
    end
  end
  look_ahead(keys, semaphore)
  return true
end
