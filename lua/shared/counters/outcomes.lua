-- What became of each increment of a call, for the record of the call: '<at> <why> …|<at> …', refused and known ones.

local function outcomes_text(refused, known)
  return table.concat(refused, ' ') .. '|' .. table.concat(known, ' ')
end

local function read_outcomes(text)
  local refused, known = {}, {}
  local of_refused, of_known = string.match(text, '^(.*)|(.*)$')
  for at, why in string.gmatch(of_refused, '(%d+) (%a+)') do
    refused[#refused + 1] = tonumber(at)
    refused[#refused + 1] = why
  end
  for at in string.gmatch(of_known, '%d+') do
    known[#known + 1] = tonumber(at)
  end
  return refused, known
end
