-- The leases of a shared lock: a sorted set of tokens by the time at which they end, and a hash that maps the id of an
-- attempt to its token ('i<id>'), and the token to id and holder.
local READERS_KEPT_MS = 600000

-- The token of this attempt, and when it ends, if it is live; otherwise nil twice, and the token if there is one.
-- Without shared mode there are no readers, even if the clock has stepped back since a lease ended.
local function reading_of(keys, lock, id)
  local token = redis.call('HGET', keys.reader_ids, 'i' .. id)
  local expires_at_ms = token and tonumber(redis.call('ZSCORE', keys.readers, token) or 0)
  if lock.mode == 's' and expires_at_ms and expires_at_ms > lock.now_ms then
    return tonumber(token), expires_at_ms
  end
  return nil, nil, token
end

-- Returns the id of its attempt. Removes the lease last: until then its holder may believe in it.
local function forget_reader(keys, token)
  local id = string.match(redis.call('HGET', keys.reader_ids, token) or '', '^%S*')
  -- The attempt may have got another lease since.
  if redis.call('HGET', keys.reader_ids, 'i' .. id) == token then
    redis.call('HDEL', keys.reader_ids, 'i' .. id)
  end
  redis.call('HDEL', keys.reader_ids, token)
  redis.call('ZREM', keys.readers, token)
  return id
end

-- Removes leases that have ended, and stores the remaining state in the lock. In a free lock all have ended: a writer
-- sees that, and does not remove them.
local function count_readers(keys, lock)
  if lock.mode == 'x' then
    return
  end
  local until_ms = lock.mode == 's' and lock.now_ms or '+inf'
  local ended =
    redis.call('ZRANGEBYSCORE', keys.readers, '-inf', until_ms, 'WITHSCORES', 'LIMIT', '0', '1000')
  for at = 1, #ended, 2 do
    local id = forget_reader(keys, ended[at])
    note_late(lock, id, ended[at], ended[at + 1])
  end
  if lock.mode ~= 's' then
    -- There may be more: if the lock became shared again, they would be valid again after a clock step back.
    if #ended == 2000 then
      redis.call('UNLINK', keys.readers, keys.reader_ids)
    end
    return
  end
  local last = redis.call('ZRANGE', keys.readers, '-1', '-1', 'WITHSCORES')
  lock.expires_at_ms = tonumber(last[2] or 0)
  if not last[1] then
    lock.mode = 'l'
  end
end

-- An attempt that confirms an offer gets its whole lease. Returns when it ends.
local function confirm_reader(keys, lock, token, ends_at_ms, lease_ms)
  local expires_at_ms = math.max(ends_at_ms, lock.now_ms + lease_ms)
  lock.expires_at_ms = math.max(lock.expires_at_ms, expires_at_ms)
  redis.call('PEXPIRE', keys.readers, lock.expires_at_ms - lock.now_ms + READERS_KEPT_MS)
  redis.call('PEXPIRE', keys.reader_ids, lock.expires_at_ms - lock.now_ms + READERS_KEPT_MS)
  redis.call('ZADD', keys.readers, 'XX', expires_at_ms, token)
  return expires_at_ms
end

-- A refused attempt holds nothing: if a missing right refuses the last writes, the reader ends, and the call with them.
local function add_reader(keys, lock, ticket, lease_ms)
  local expires_at_ms = lock.now_ms + lease_ms
  lock.token = new_token(lock)
  lock.expires_at_ms = lock.mode == 's' and math.max(lock.expires_at_ms, expires_at_ms) or expires_at_ms
  lock.mode = 's'
  lock.id = ''
  lock.holder = ''
  redis.call(
    'HSET',
    keys.reader_ids,
    'i' .. ticket.id,
    lock.token,
    lock.token,
    ticket.id .. ' ' .. ticket.holder
  )
  redis.call('ZADD', keys.readers, expires_at_ms, lock.token)
  local kept_ms = lock.expires_at_ms - lock.now_ms + READERS_KEPT_MS
  if type(redis.pcall('PEXPIRE', keys.readers, kept_ms)) ~= 'number' then
    forget_reader(keys, lock.token)
    redis.call('PEXPIRE', keys.readers, kept_ms)
  end
  redis.call('PEXPIRE', keys.reader_ids, kept_ms)
  return expires_at_ms
end

-- Saves a lock with a new reader.
local function save_reader(keys, lock)
  if redis.pcall('SET', keys.state, lock_text(lock), 'PX', lock_kept_ms(lock)).err then
    forget_reader(keys, lock.token)
    save_lock(keys.state, lock)
  end
end

-- Consecutive readers in line are let in together.
local MOST_LET_IN = 100

-- Lets a waiting reader in, or offers it a lease for the time that its process has to call. Returns 'granted',
-- 'unnotified' if it may not be notified and so polls, or false if the process is dead.
local function let_in(keys, lock, ticket)
  local heard = listens_here(ticket, lock.how)
  if heard == false then
    drop_ticket(keys, ticket)
    return false
  end
  local mode, id, holder, token, ended_ms = lock.mode, lock.id, lock.holder, lock.token, lock.expires_at_ms
  try_to_drop(keys, lock)
  local expires_at_ms = add_reader(keys, lock, ticket, offered_ms(lock, ticket, heard))
  local message = string.format('granted %s %s %.0f %.0f', ticket.id, lock.token, expires_at_ms, lock.now_ms)
  save_reader(keys, lock)
  if publish_to(ticket, message, lock.how) then
    drop_ticket(keys, ticket)
    return 'granted'
  end
  forget_reader(keys, lock.token)
  lock.mode, lock.id, lock.holder, lock.token, lock.expires_at_ms = mode, id, holder, token, ended_ms
  save_lock(keys.state, lock)
  return 'unnotified'
end

-- Hands a lock that is free, or shared, to the first in line: to consecutive readers, or to one writer. Returns 'own'
-- if it reached the caller's own ticket, 'more' if it stopped among dead tickets, 'none' if the line is empty.
local function serve_shared(keys, lock, own)
  local let = 0
  -- The process of the last reader that was let in: it may sleep, and then cannot notify the next one.
  local asleep
  if lock.mode == 'l' or lock.late or is_overdue(lock) then
    send_back_late(keys, lock, own)
  end
  for _ = 1, MOST_SKIPPED do
    local ticket, behind = first_two(keys)
    if not ticket then
      lock.last_ticket = 0
      return 'none'
    end
    local fits = is_free(lock) or (lock.mode == 's' and ticket.kind == 's')
    if ticket.kind ~= 'x' and is_free(lock) and is_called(lock.called, lock.now_ms) then
      -- A called waiter has left the line, and goes before these.
      return 'served'
    elseif ticket.text == own and fits then
      return 'own'
    elseif not fits then
      local recheck_ms, looks = lock.expires_at_ms - lock.now_ms, own ~= ''
      local ask_in_ms = looks and math.min(recheck_ms, 2000) or recheck_ms
      if not notify_process(ticket, first_message(ticket, ask_in_ms), lock.how) then
        drop_ticket(keys, ticket)
      else
        local passed = false
        if looks then
          passed = pass_silent(keys, lock, ticket, own)
        end
        if not passed then
          if process_of(ticket) == asleep then
            call_other(keys, lock, asleep, recheck_ms)
          end
          return 'served'
        end
      end
    elseif let == MOST_LET_IN then
      if notify_process(ticket, 'come ' .. ticket.id, lock.how) then
        return 'served'
      end
      drop_ticket(keys, ticket)
    elseif ticket.kind == 'b' then
      if call_up(keys, lock, ticket, behind) then
        return 'served'
      end
    else
      local reads = ticket.kind == 's'
      local came
      if reads then
        came = let_in(keys, lock, ticket)
      else
        came = hand_over(keys, lock, ticket, behind)
      end
      if came == 'granted' then
        if not reads then
          return 'served'
        end
        let, asleep = let + 1, process_of(ticket)
      elseif came == 'unnotified' then
        if not pass_silent(keys, lock, ticket, own) then
          return 'served'
        end
      end
    end
  end
  return 'more'
end
