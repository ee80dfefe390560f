-- What became of several jobs, as text: '<at> <why> <at> <why> …;<at> <at> …'.

local function format_places(refused, places)
  return table.concat(refused, ' ') .. ';' .. table.concat(places, ' ')
end

local function parse_refused(text)
  local refused = {}
  for at, why in string.gmatch(string.match(text, '^[^;]*'), '(%d+) (%a+)') do
    refused[#refused + 1] = tonumber(at)
    refused[#refused + 1] = why
  end
  return refused
end

local function parse_places(text)
  local places = {}
  for at in string.gmatch(string.match(text, ';(.*)$'), '%d+') do
    places[#places + 1] = tonumber(at)
  end
  return places
end

-- The answer of an ack-and-claim as text: '<token> <count> <ends_ms> <refused>'; see shared/queue/claimed-before for the jobs.
local function format_claimed(token, count, ends_ms, refused)
  return string.format('%.0f %d %.0f ', token, count, ends_ms) .. format_places(refused, {})
end
