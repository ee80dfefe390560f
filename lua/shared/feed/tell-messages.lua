local function tell_message(answer, entry, bodies)
  tell(answer, #answer, entry.position, entry.id, entry.expires_at_ms, entry.claims, body_of(bodies, entry))
end

local function tell_messages(entries, bodies)
  local answer = {}
  for _, entry in ipairs(entries) do
    tell_message(answer, entry, bodies)
  end
  return answer
end
