-- Telling children that their parents have ended; see shared/queue/parents.

local PARENT_FAILED = 'parent-failed'

-- One whose parent died or was cancelled.
local function fail_child(keys, queue, seq, job, run, policy, stored, parent, now_ms)
  unblock(keys, queue, seq, run)
  leave_parents(keys, queue, seq, stored)
  if policy == 'b' then
    note_history(keys.jobs, seq, run, 'b', now_ms, 0, PARENT_FAILED)
    happened(queue, 'buried', seq, job, run, PARENT_FAILED)
    count_job(queue, 'd', run.name)
    note_end(queue, keys.jobs, seq, job, run, 'd', PARENT_FAILED, parent, '')
    bury_job(keys, queue, seq, job, run, PARENT_FAILED, parent, now_ms)
  else
    cancel_job(keys, queue, seq, job, run)
  end
end

-- Answers whether the child became ready.
local function settle_child(keys, queue, seq, letter, id, now_us)
  local now_ms = math.floor(now_us / 1000)
  local stored = redis.call('HMGET', keys.jobs, seq, 'r' .. seq, 'd' .. seq)
  local run = stored[1] and stored[2] and unpack_run(stored[2])
  if not run or run.state ~= 'w' then
    return false
  end
  local job = read_job(stored[1], queue.usual)
  local policy, left, rest = string.match(stored[3], '^(%a)(%d+)(.*)$')
  if (letter == 'd' or letter == 'x') and policy ~= 'r' then
    local parent = "parent '" .. id .. "' " .. (letter == 'd' and 'is dead' or 'was cancelled')
    fail_child(keys, queue, seq, job, run, policy, stored[3], parent, now_ms)
    return false
  end
  redis.call('HSET', keys.jobs, 'd' .. seq, string.format('%s%d', policy, left - 1) .. rest)
  if tonumber(left) > 1 then
    return false
  end
  local delay_ms = tonumber(string.match(rest, '^ (%d+)'))
  return unblock_child(keys, queue, seq, job, run, delay_ms, now_us)
end

-- At most so many, and no more behind those with which the ends that were read and put out reach CALL_BYTES; the rest is due at
-- once. Answers how many became ready.
local function settle_children(keys, queue, now_us, most)
  local became_ready = 0
  while most > 0 do
    local ref = redis.call('ZRANGEBYSCORE', keys.parents, '0', '0', 'LIMIT', '0', '1')[1]
    if not ref then
      return became_ready
    end
    local first, last = '[' .. ref .. '\0', '(' .. ref .. '\1'
    local members = redis.call('ZRANGEBYLEX', keys.children, first, last, 'LIMIT', '0', most)
    local ended = redis.call('HGET', keys.jobs, 'z' .. ref)
    local letter, id, rest = unpack_end(ended)
    queue.moved = (queue.moved or 0) + #ended
    local told = 0
    for _, member in ipairs(members) do
      local child = string.sub(member, #ref + 2)
      redis.call('ZREM', keys.children, member)
      told = told + 1
      if string.sub(child, 1, 1) == 'q' then
        put_out_end(keys, queue, child, ref, letter, string.sub(ended, rest), now_us)
        if queue.moved >= CALL_BYTES then
          break
        end
      elseif settle_child(keys, queue, child, letter, id, now_us) then
        became_ready = became_ready + 1
      end
    end
    if told == #members and #members < most then
      redis.call('ZREM', keys.parents, ref)
      if redis.call('HEXISTS', keys.jobs, 'y' .. ref) == 0 then
        redis.call('HDEL', keys.jobs, 'z' .. ref)
      end
    end
    most = queue.moved < CALL_BYTES and most - 1 - told or 0
  end
  note_due(queue, math.floor(now_us / 1000))
  return became_ready
end
