-- What the acks of a call do.
-- @include shared/queue/judge
-- @include shared/queue/stop
-- @include shared/queue/finish

-- Which are refused, and how many jobs are over by it.
local function carry_out_acks(keys, queue, settings, acks, acks_at, now_us)
  local ended, refused, stopped = judge_acks(keys.jobs, acks, acks_at)
  for _, seq in ipairs(stopped) do
    stop_job(keys, queue, seq, now_us)
  end
  if #ended > 0 then
    finish_jobs(keys, queue, settings, ended, now_us)
  end
  return refused, #ended + #stopped
end
