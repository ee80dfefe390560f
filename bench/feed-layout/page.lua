-- ARGV: position to read after, messages at most
return tell_live(messages_after(tonumber(ARGV[1]), ARGV[2]), clock_us() / 1000)
