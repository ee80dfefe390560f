-- What Redis gives to a script, and nothing more.
std = {
  read_globals = {
    'KEYS', 'ARGV', 'redis', 'cjson', 'cmsgpack', 'struct', 'bit',
    'string', 'table', 'math', 'tonumber', 'tostring', 'type', 'pairs', 'ipairs', 'next', 'select', 'unpack',
    'error', 'pcall', 'assert',
  },
}
max_line_length = 110
