-- What a call has to do, in units of about a microsecond: for each word of an entry, for each of the bytes that count of it, and
-- for what is stored. A call that has done more than MOST_WORK begins no other entry, so that it ends within some milliseconds.
-- Callers hand in no more than this (src/autocomplete/entry); what entries leave that are replaced only the script knows.
local MOST_WORK = 6000
local WORK_OF_WORD = 30
local WORK_OF_FRONT = 30
-- Of a letter that goes on where a top is filled up; each place that is looked at is a unit.
local WORK_OF_CHILD = 10
-- So many bytes that are stored are a unit.
local BYTES_OF_WORK = 128

local function work_of(suffixes, record)
  local work = math.ceil(#record / BYTES_OF_WORK)
  for _, suffix in ipairs(suffixes) do
    work = work + WORK_OF_WORD + #suffix
  end
  return work
end
