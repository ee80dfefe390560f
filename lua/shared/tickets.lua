-- Those who wait, first come first served: a sorted set of tickets by number.
-- A ticket is the text '<id> <kind> <lease_ms> <listens> <units> <holder>'. Its id is '<process>.<number>', and
-- a process listens on '<channel>:<process>'. Whoever frees something tells the process of the ticket:
--   granted <id> <token> <expires_at_ms> <now_ms>     it is yours
--   first <id> <recheck_ms>                           you are the first in line: look again then, at the latest
-- A process that nobody hears has died: its tickets are passed over. On a cluster without sharded channels
-- the number of those who hear proves nothing (`counted` is false); there the claim of a grant ends soon.

local function format_ticket(ticket)
  return string.format(
    '%s %s %d %d %d %s',
    ticket.id,
    ticket.kind,
    ticket.lease_ms,
    ticket.listens,
    ticket.units,
    ticket.holder
  )
end

local function parse_ticket(text)
  local id, kind, lease_ms, listens, units, holder = string.match(text, '^(%S+) (%S) (%d+) (%d) (%d+) (.*)$')
  return {
    text = text,
    id = id,
    kind = kind,
    lease_ms = tonumber(lease_ms),
    listens = tonumber(listens),
    units = tonumber(units),
    holder = holder,
  }
end
