-- Keeps the ends of jobs, and tells those who wait for them: 'ended <name> 0', one message a process.

-- All of them are gone some time after the last.
local SPARE_MS = 3600000

-- Of the ends to which these fields belong those that are over: both fields of each.
local function ends_over(results, sample, now_ms)
  local fields, over = {}, {}
  for at = 1, #sample do
    fields[at] = 'u' .. string.sub(sample[at], 2)
  end
  for at, until_ms in ipairs(#fields > 0 and redis.call('HMGET', results, unpack(fields)) or {}) do
    if until_ms and tonumber(until_ms) <= now_ms then
      over[#over + 1] = fields[at]
      over[#over + 1] = 'v' .. string.sub(fields[at], 2)
    end
  end
  return over
end

-- Ends that are over are dropped by sampling, as shared/drop-over does, which reads values: here those are results, of any size.
-- Two are looked at for each that comes, so that as many go as come once half of all are over.
local function forget_old_results(results, count, now_ms)
  local left, size = 2 * count + 4, 8
  while left > 0 do
    -- The embedded demo engine does not know the command; it keeps nothing for long anyway.
    local over = ends_over(results, redis.pcall('HRANDFIELD', results, string.format('%d', size)), now_ms)
    if #over == 0 then
      return
    end
    redis.pcall('HDEL', results, unpack(over))
    left = left - math.abs(size)
    size = -math.min(left, 1500)
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
  local left_ms = redis.pcall('PTTL', results)
  if type(left_ms) ~= 'number' or left_ms < longest + SPARE_MS then
    redis.pcall('PEXPIRE', results, longest + 2 * SPARE_MS)
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
