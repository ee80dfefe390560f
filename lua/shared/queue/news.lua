-- What comes from other queues; see shared/queue/outbox.

-- Whether those who waited for news went when their queue was cleared: it is not there, or has another number of partitions
-- since. News that come late do not begin it again.
local function is_stale_news(queue, partitions)
  if queue.layout ~= QUEUE_LAYOUT then
    return string.find(queue.layout, '^in %d+ partitions$') ~= nil
  end
  return queue.began_us == 0 or (queue.partitions > 0 and queue.partitions ~= partitions)
end

-- Whether there are jobs among the entries of an outbox.
local function brings_jobs(entries, entries_at)
  for at = entries_at + 1, #entries, 2 do
    if string.sub(entries[at], 1, 1) == 'j' then
      return true
    end
  end
  return false
end

-- Whether a job waits for that parent that is newer than the newest which was asked for (0: any).
local function waits_since(keys, ref, newest)
  local from = '(' .. ref .. '\0' .. exact(newest)
  return newest > 0
    and redis.call('ZRANGEBYLEX', keys.children, from, '(' .. ref .. '\1', 'LIMIT', '0', '1')[1]
end

-- A parent that its queue does not know any more. What it came to counts where that has been told: for all children but those
-- that have come since. Where some have, it may be there by now, and is asked after once more for them.
local function hear_of_unknown(keys, queue, source, id, newest, now_ms)
  local ref = 'q' .. source .. '\1' .. id
  if waits_since(keys, ref, newest) then
    if redis.call('ZSCORE', keys.parents, ref) ~= '0' then
      redis.call('ZREM', keys.parents, ref)
      link_elsewhere(keys, queue, ref, now_ms)
      if redis.call('HEXISTS', keys.jobs, 'z' .. ref) == 0 then
        redis.call('HSET', keys.jobs, 'z' .. ref, pack_end('a', id, ''))
      end
      queue.asked = queue.asked or {}
      table.insert(queue.asked, { ref = ref, newest = newest })
      queue.settling = true
    end
    return
  end
  local waits =
    redis.call('ZRANGEBYLEX', keys.children, '[' .. ref .. '\0', '(' .. ref .. '\1', 'LIMIT', '0', '1')
  local is_told = not waits[1] or redis.call('ZSCORE', keys.parents, ref) == '0'
  if is_told and redis.call('HEXISTS', keys.jobs, 'z' .. ref) == 1 then
    redis.call('ZADD', keys.parents, '0', ref)
    queue.settling = true
  else
    hear_of_parent(keys, queue, source, id, pack_end('a', id, ''))
  end
end
