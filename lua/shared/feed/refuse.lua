-- Why messages that a claim does not hold cannot be acked: as an answer tells it, and as it is remembered.
local function refuse(feed, keys, others, now_ms)
  local refused, told = {}, {}
  for _, found in ipairs(others) do
    local reason = 'absent'
    if found.holder and is_live(keys.leases, found.holder, now_ms) then
      reason = 'held'
    elseif found.parked or entry_at(feed, keys, found.place) then
      reason = 'unclaimed'
    end
    refused[#refused + 1] = tonumber(found.id)
    refused[#refused + 1] = reason
    told[#told + 1] = found.id .. ':' .. reason
  end
  return refused, table.concat(told, ' ')
end
