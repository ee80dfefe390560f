-- Everything that is known of a recurrence, appended to a list. Answers its bytes.
local function tell_recurrence(told, recurrences, id)
  local recurrence = read_recurrence(recurrences, id)
  if not recurrence then
    return 0
  end
  local job = read_job(recurrence.record)
  local parts = {
    id,
    recurrence.next_ms,
    recurrence.last_ms,
    recurrence.last_job,
    recurrence.runs,
    recurrence.known_ms,
    is_short(recurrence) and 1 or 0,
    recurrence.every_ms,
    recurrence.offset_ms,
    recurrence.cron,
    recurrence.time_zone,
    recurrence.missed,
    recurrence.limit,
    recurrence.until_ms,
    job.name,
    string.sub(recurrence.record, job.body_at),
    job.priority,
    job.max_attempts,
    job.max_run_ms,
    job.backoff,
    job.backoff_ms,
    job.backoff_max_ms,
    job.jitter,
    job.group,
    string.sub(job.unique, 2),
    string.sub(job.unique, 1, 1),
    recurrence.window_ms,
    job.trace,
    job.tags,
  }
  for _, part in ipairs(parts) do
    told[#told + 1] = part
  end
  return #recurrence.record
end
