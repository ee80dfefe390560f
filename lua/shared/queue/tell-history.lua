-- Tells everything that happened to a job; see shared/queue/history.
local HAPPENED = {
  t = 'retried',
  l = 'reclaimed',
  g = 'released',
  b = 'buried',
  q = 'requeued',
  x = 'stopping',
  f = 'acked',
}

local function tell_one(told, what, at_ms, attempt, token, kind)
  local at = #told
  told[at + 1], told[at + 2], told[at + 3], told[at + 4], told[at + 5] = what, at_ms, attempt, token, kind
end

-- What the run says of its newest attempt, where no entry has told it.
local function tell_newest(told, run, last)
  if run.state == 'f' then
    -- A token is the server's microsecond of the claim, or a little more.
    tell_one(told, 'claimed', math.floor(run.token / 1000), run.attempts, run.token, '')
    tell_one(told, 'acked', run.at_ms, run.attempts, run.token, '')
  elseif (run.state == 'c' or run.state == 'x') and run.token ~= last then
    tell_one(told, 'claimed', run.at_ms, run.attempts, run.token, '')
  end
end

-- A flat list of what, when, attempt, token and kind, and how many are missing behind the first of those that were noted.
local function tell_history(jobs, seq, run)
  local told, last = {}, 0
  tell_one(told, 'enqueued', math.floor(seq / 1000), 0, 0, '')
  local entries, omitted = list_entries(redis.call('HGET', jobs, 'h' .. seq))
  for _, entry in ipairs(entries) do
    local what, at_ms, attempt, token, claimed_ms, kind_at = struct.unpack('>c1dHdd', entry)
    if what ~= 'q' and token ~= last then
      tell_one(told, 'claimed', claimed_ms, attempt, token, '')
      last = token
    end
    tell_one(told, HAPPENED[what], at_ms, attempt, token, string.sub(entry, kind_at))
  end
  if run then
    tell_newest(told, run, last)
  end
  return told, omitted
end
