-- The leases of a shared lock: a sorted set of tokens by the time at which they end, and a hash that leads
-- from the id of an attempt to its token ('i<id>'), and from the token to id and holder.
local READERS_KEPT_MS = 600000

-- The token that this attempt has got, and when it ends, if it is live; else nil twice, and the token if there is one. Nobody reads
-- while the lock is not shared, whatever the time says that has stepped back since a lease ended.
local function reading_of(lock, readers, reader_ids, id, now_ms)
  local token = redis.call('HGET', reader_ids, 'i' .. id)
  local expires_at_ms = token and tonumber(redis.call('ZSCORE', readers, token) or 0)
  if lock.mode == 's' and expires_at_ms and expires_at_ms > now_ms then
    return tonumber(token), expires_at_ms
  end
  return nil, nil, token
end

-- Answers the id of its attempt.
local function forget_reader(readers, reader_ids, token)
  local id = string.match(redis.call('HGET', reader_ids, token) or '', '^%S*')
  redis.call('ZREM', readers, token)
  -- The attempt may have got another lease since.
  if redis.call('HGET', reader_ids, 'i' .. id) == token then
    redis.call('HDEL', reader_ids, 'i' .. id)
  end
  redis.call('HDEL', reader_ids, token)
  return id
end

-- Removes leases that have ended, and notes in the lock what is left. Of one that is free all have: whoever wants it alone sees that
-- they have, and does not remove them.
local function count_readers(lock, readers, reader_ids, now_ms)
  if lock.mode == 'x' then
    return
  end
  local until_ms = lock.mode == 's' and now_ms or '+inf'
  local ended = redis.call('ZRANGEBYSCORE', readers, '-inf', until_ms, 'WITHSCORES', 'LIMIT', '0', '1000')
  for at = 1, #ended, 2 do
    local id = forget_reader(readers, reader_ids, ended[at])
    note_late(lock, id, ended[at], ended[at + 1])
  end
  if lock.mode ~= 's' then
    return
  end
  local last = redis.call('ZRANGE', readers, '-1', '-1', 'WITHSCORES')
  lock.expires_at_ms = tonumber(last[2] or 0)
  if not last[1] then
    lock.mode = 'l'
  end
end

-- An attempt that asks for what it was offered gets it for the whole lease. Answers when it ends.
local function confirm_reader(lock, readers, reader_ids, token, ends_at_ms, lease_ms, now_ms)
  local expires_at_ms = math.max(ends_at_ms, now_ms + lease_ms)
  lock.expires_at_ms = math.max(lock.expires_at_ms, expires_at_ms)
  redis.call('PEXPIRE', readers, lock.expires_at_ms - now_ms + READERS_KEPT_MS)
  redis.call('PEXPIRE', reader_ids, lock.expires_at_ms - now_ms + READERS_KEPT_MS)
  redis.call('ZADD', readers, 'XX', expires_at_ms, token)
  return expires_at_ms
end

local function add_reader(lock, readers, reader_ids, ticket, lease_ms, now_us)
  local now_ms = math.floor(now_us / 1000)
  local expires_at_ms = now_ms + lease_ms
  lock.token = string.format('%.0f', next_token(lock.token, now_us))
  lock.expires_at_ms = lock.mode == 's' and math.max(lock.expires_at_ms, expires_at_ms) or expires_at_ms
  lock.mode = 's'
  lock.id = ''
  lock.holder = ''
  redis.call('HSET', reader_ids, 'i' .. ticket.id, lock.token, lock.token, ticket.id .. ' ' .. ticket.holder)
  redis.call('ZADD', readers, expires_at_ms, lock.token)
  redis.call('PEXPIRE', readers, lock.expires_at_ms - now_ms + READERS_KEPT_MS)
  redis.call('PEXPIRE', reader_ids, lock.expires_at_ms - now_ms + READERS_KEPT_MS)
  return expires_at_ms
end

-- Readers who stand one behind the other are let in together.
local MOST_LET_IN = 100

-- Lets a waiting reader in, or offers it for the time in which its process has to ask. Answers 'granted', 'untold' when it may not
-- be told, and so asks by itself, and false when the process is gone.
local function let_in(lock, queue, readers, reader_ids, ticket, claim_ms, now_us, how)
  local heard = listens_here(ticket, how)
  if heard == false then
    redis.call('ZREM', queue, ticket.text)
    return false
  end
  local now_ms = math.floor(now_us / 1000)
  local lease_ms = offered_ms(ticket, heard, claim_ms, now_ms)
  local token = next_token(lock.token, now_us)
  local message = string.format('granted %s %.0f %.0f %.0f', ticket.id, token, now_ms + lease_ms, now_ms)
  if not tell_granted(queue, ticket, message, how) then
    return 'untold'
  end
  redis.call('ZREM', queue, ticket.text)
  add_reader(lock, readers, reader_ids, ticket, lease_ms, now_us)
  return 'granted'
end

-- Hands a lock that is free, or shared, to those who are first in line: to readers as long as they stand
-- one behind the other, or to one alone. Answers 'own' when it came to the caller's own ticket, 'more' when
-- it stopped among dead tickets, 'nobody' when the line is empty.
local function serve_shared(lock, queue, readers, reader_ids, own, claim_ms, now_us, how)
  local now_ms = math.floor(now_us / 1000)
  local let = 0
  -- The process of the last reader that was let in: it may sleep, and then cannot look after its next.
  local asleep
  if lock.mode == 'l' or lock.late or is_overdue(lock.called, now_ms) then
    send_back_late(lock, queue, own, now_ms, how)
  end
  for _ = 1, MOST_SKIPPED do
    local pair = redis.call('ZRANGE', queue, '0', '1')
    if not pair[1] then
      lock.last_ticket = 0
      return 'nobody'
    end
    local ticket = parse_ticket(pair[1])
    local fits = is_free(lock) or (lock.mode == 's' and ticket.kind == 's')
    if ticket.kind ~= 'x' and is_free(lock) and is_called(lock.called, now_ms) then
      -- One that was told to come has left the line, and stands before these.
      return 'served'
    elseif ticket.text == own and fits then
      return 'own'
    elseif not fits then
      local recheck_ms, looks = lock.expires_at_ms - now_ms, own ~= ''
      local ask_in_ms = looks and math.min(recheck_ms, 2000) or recheck_ms
      if not tell_process(ticket, first_message(ticket, ask_in_ms), how) then
        redis.call('ZREM', queue, ticket.text)
      else
        local passed = false
        if looks then
          passed = pass_silent(queue, ticket, own, now_ms, how)
        end
        if not passed then
          if process_of(ticket) == asleep then
            call_other(queue, asleep, recheck_ms, how)
          end
          return 'served'
        end
      end
    elseif let == MOST_LET_IN then
      if tell_process(ticket, 'come ' .. ticket.id, how) then
        return 'served'
      end
      redis.call('ZREM', queue, ticket.text)
    elseif ticket.kind == 'b' then
      if call_up(lock, queue, ticket, pair[2], claim_ms, now_us, how) then
        return 'served'
      end
    else
      local reads = ticket.kind == 's'
      local came
      if reads then
        came = let_in(lock, queue, readers, reader_ids, ticket, claim_ms, now_us, how)
      else
        came = hand_over(lock, queue, ticket, pair[2], claim_ms, now_us, how)
      end
      if came == 'granted' then
        if not reads then
          return 'served'
        end
        let, asleep = let + 1, process_of(ticket)
      elseif came == 'untold' then
        if not pass_silent(queue, ticket, own, now_ms, how) then
          return 'served'
        end
      end
    end
  end
  return 'more'
end
