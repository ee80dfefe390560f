-- The unique key of a job that begins again, which is its own again until it starts, or is done; nil where it needs none.
local function key_again(job)
  local till, key = string.sub(job.unique, 1, 1), string.sub(job.unique, 2)
  return (till == 's' or till == 'd') and key or nil, till
end

-- Answers false where another job has it.
local function may_hold_again(ids, job, seq, now_ms)
  local key = key_again(job)
  local holder = key and holder_of_unique(ids, key, now_ms)
  return not holder or holder == seq
end

-- Behind the first write: a full server refuses a call whose first write may need memory.
local function hold_again(ids, job, seq)
  local key, till = key_again(job)
  if key then
    hold_unique(ids, key, seq, till, 0)
  end
end
