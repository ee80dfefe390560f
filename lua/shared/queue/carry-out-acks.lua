-- What the acks of a call do.

-- Which are refused, and how many jobs are over by it.
local function carry_out_acks(keys, meta, queue, settings, acks, acks_at, now_us, has_tried)
  local ended, refused, stopped = judge_acks(keys.jobs, acks, acks_at)
  if #stopped > 0 or change_others(queue, settings, ended) then
    try_rights(meta, queue, keys)
  elseif #ended > 0 then
    try_acks(meta, queue, keys, has_tried)
  end
  for _, seq in ipairs(stopped) do
    stop_job(keys, queue, seq, now_us)
  end
  if #ended > 0 then
    finish_jobs(keys, queue, settings, ended, now_us)
  end
  return refused, #ended + #stopped
end
