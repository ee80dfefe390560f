-- What comes behind the first write where jobs are done, each command once on nothing; see shared/queue/rights. Most need few of them.

-- Whether other jobs may be changed by the end of these: parents and children, and what was kept.
local function change_others(queue, settings, ended)
  if settings.keep_count + settings.keep_ms > 0 or queue.done > 0 then
    return true
  end
  for at = 2, #ended, 3 do
    local flags = ended[at].flags
    if has_flag(flags, PARENT) or has_flag(flags, CHILD) then
      return true
    end
  end
  return false
end

-- `has_tried`: the commands of groups.
local function try_acks(meta, queue, keys, has_tried)
  if not has_tried then
    redis.call('HDEL', keys.jobs, '')
    redis.call('HGET', keys.jobs, '')
    if is_marked(queue, GROUPS) then
      redis.call('ZADD', keys.leases, 'XX', '0', '')
    end
  end
  redis.call('HSET', meta, 'codec', queue.codec)
end
