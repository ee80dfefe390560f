-- The fields of jobs in their hash: the record and the run of each, which are read and removed together.
local function fields_of(numbers)
  local fields = {}
  for at, seq in ipairs(numbers) do
    fields[at * 2 - 1] = seq
    fields[at * 2] = 'r' .. seq
  end
  return fields
end
