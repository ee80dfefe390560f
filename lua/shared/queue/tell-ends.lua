-- Keeps the ends of jobs, and tells those who wait for them: 'ended <name> 0', one message a process.

-- All of them are gone some time after the last.
local SPARE_MS = 3600000

-- Ends that are over are dropped by sampling, more than there are new ones: no index, and they stay a part.
local function forget_old_results(results, count, now_ms)
  -- The embedded demo engine does not know the command; it keeps nothing for long anyway.
  local sample = redis.pcall('HRANDFIELD', results, math.min(2 * count + 4, 100))
  local fields = {}
  for at = 1, #sample do
    fields[at] = 'u' .. string.sub(sample[at], 2)
  end
  if #fields == 0 then
    return
  end
  for at, until_ms in ipairs(redis.call('HMGET', results, unpack(fields))) do
    if until_ms and tonumber(until_ms) <= now_ms then
      redis.call('HDEL', results, fields[at], 'v' .. string.sub(fields[at], 2))
    end
  end
end

local function keep_results(results, ended, now_ms)
  local longest = 0
  for _, each in ipairs(ended) do
    redis.call(
      'HSET',
      results,
      'v' .. each.id,
      pack_result(each, now_ms),
      'u' .. each.id,
      string.format('%.0f', now_ms + each.keep_ms)
    )
    longest = math.max(longest, each.keep_ms)
  end
  if redis.call('PTTL', results) < longest + SPARE_MS then
    redis.call('PEXPIRE', results, longest + 2 * SPARE_MS)
  end
  forget_old_results(results, #ended, now_ms)
end

local function tell_ends(results, ended, now_ms, how)
  keep_results(results, ended, now_ms)
  local letters = {}
  for _, each in ipairs(ended) do
    for name in string.gmatch(each.waiters, '%S+') do
      local process = process_of({ id = name })
      local before = letters[process]
      letters[process] = (before and before .. '\n' or '') .. 'ended ' .. name .. ' 0'
    end
  end
  for process, letter in pairs(letters) do
    tell_process({ id = process, listens = 1 }, letter, how)
  end
end
