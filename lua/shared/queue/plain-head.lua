-- The head of the record of a plain job; see shared/queue/job.
local USUAL, USUAL_HEAD = 255, '\255'

local function plain_head(name, usual)
  return name == usual and USUAL_HEAD or string.char(#name) .. name
end

-- The name of a plain record, and where its payload begins.
local function plain_name(record, usual)
  local length = string.byte(record)
  if length == USUAL then
    return usual, 2
  end
  return string.sub(record, 2, length + 1), length + 2
end
