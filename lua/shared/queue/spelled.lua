-- A text between tabs; see shared/queue/message.
local function spelled(text)
  return (
    string.gsub(text, '[%c%%]', function(letter)
      return string.format('%%%02X', string.byte(letter))
    end)
  )
end
