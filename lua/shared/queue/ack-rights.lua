-- Whether plain jobs that end are all that a call meets.
local function are_plain(queue, settings, ended)
  if settings.keep_count + settings.keep_ms > 0 or queue.done > 0 then
    return false
  end
  for at = 2, #ended, 3 do
    if ended[at].flags ~= PLAIN then
      return false
    end
  end
  return true
end

-- What comes behind the removal of the leases of plain jobs that are done.
local function try_acks(meta, queue, keys)
  redis.call('HDEL', keys.jobs, '')
  redis.call('HSET', meta, 'codec', queue.codec)
end
