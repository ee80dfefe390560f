-- The options of a claimed job, told beside it by its place.

local function tell_options(options, place, seq, job)
  options[#options + 1] = place
  options[#options + 1] = job.id == '' and seq or job.id
  options[#options + 1] = job.priority
  options[#options + 1] = job.max_attempts
  options[#options + 1] = job.max_run_ms
  options[#options + 1] = job.group
  options[#options + 1] = job.trace
  options[#options + 1] = job.tags
end
