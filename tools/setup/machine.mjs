// Programs that npm cannot install: found, or installed with the system's package manager.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { isExecutable, isOnPath, mustRun, run, SetupError } from './command.mjs'

const PYTHON = '/usr/bin/python3' // the one that system packages belong to

/** What `test/browser` looks for, in this order. */
const BROWSERS = ['chromium', 'chromium-browser', 'google-chrome']

const PROGRAMS = {
  redis: { isThere: () => isOnPath('redis-server', 'valkey-server'), apt: 'redis-server', brew: 'redis' },
  postgres: { isThere: hasPostgres, apt: 'postgresql', brew: 'postgresql@17' },
  mariadb: {
    isThere: () => isOnPath('mariadbd') || isExecutable('/usr/sbin/mariadbd'),
    apt: 'mariadb-server',
    brew: 'mariadb',
  },
  sqlite: { isThere: () => isOnPath('sqlite3'), apt: 'sqlite3', brew: 'sqlite' },
  chromium: {
    isThere: () => isOnPath(...BROWSERS),
    apt: 'chromium',
    otherwise: 'brew install --cask chromium',
  },
  luacheck: { isThere: () => isOnPath('luacheck'), apt: 'lua-check', brew: 'luacheck' },
  pythonRedis: {
    isThere: async () => (await run(PYTHON, ['-c', 'import redis'])).code === 0,
    apt: 'python3-redis',
    otherwise: `${PYTHON} -m pip install --user redis`,
  },
  zaqarClient: {
    isThere: async () => (await run(PYTHON, ['-c', 'import zaqarclient'])).code === 0,
    apt: 'python3-zaqarclient',
    otherwise: `${PYTHON} -m pip install --user python-zaqarclient`,
  },
}

/** Debian and Homebrew keep it off PATH: several versions may be there. */
function hasPostgres() {
  return isOnPath('postgres') || postgresFolders().some((folder) => isExecutable(join(folder, 'postgres')))
}

function postgresFolders() {
  const debian = foldersIn('/usr/lib/postgresql')
  const brew = ['/opt/homebrew/opt', '/usr/local/opt'].flatMap(foldersIn)
  return [...debian, ...brew.filter((folder) => folder.includes('/postgresql'))].map((at) => join(at, 'bin'))
}

function foldersIn(folder) {
  try {
    return readdirSync(folder).map((name) => join(folder, name))
  } catch {
    return [] // there is none
  }
}

/** Makes sure that these programs of the table above are there. Throws `SetupError` that says what to type. */
export async function ensurePrograms(...names) {
  const missing = await findMissing(names)
  if (missing.length === 0) return
  if (!(await installWithAny(missing))) throw new SetupError(explain(missing))
  const stillMissing = await findMissing(missing)
  if (stillMissing.length > 0) throw new SetupError(explain(stillMissing))
}

async function findMissing(names) {
  const there = await Promise.all(names.map((name) => PROGRAMS[name].isThere()))
  return names.filter((_, index) => !there[index])
}

async function installWithAny(missing) {
  if (isOnPath('apt-get')) return installWithApt(missing.map((name) => PROGRAMS[name].apt))
  const formulas = missing.flatMap((name) => PROGRAMS[name].brew ?? [])
  if (!isOnPath('brew') || formulas.length === 0) return false
  console.log(`installing ${formulas.join(', ')} with brew`)
  await mustRun('installing', 'brew', ['install', ...formulas])
  return true
}

async function installWithApt(packages) {
  const asRoot = await findWayToBeRoot()
  if (asRoot === undefined) return false
  console.log(`installing ${packages.join(', ')} with apt-get`)
  // RUNLEVEL=1: the package must not start a server of its own.
  const apt = [...asRoot, 'env', 'RUNLEVEL=1', 'DEBIAN_FRONTEND=noninteractive', 'apt-get']
  const [command, ...args] = apt
  await mustRun('updating the package lists', command, [...args, 'update'])
  await mustRun('installing', command, [...args, 'install', '-y', '--no-install-recommends', ...packages])
  return true
}

/** What to put before a command: nothing for root, sudo if it asks for no password, else undefined. */
async function findWayToBeRoot() {
  if (process.getuid?.() === 0) return []
  const { code } = await run('sudo', ['-n', 'true'])
  return code === 0 ? ['sudo', '-n'] : undefined
}

function explain(missing) {
  const apt = missing.map((name) => PROGRAMS[name].apt).join(' ')
  const brew = missing.flatMap((name) => PROGRAMS[name].brew ?? []).join(' ')
  const others = missing.flatMap((name) => PROGRAMS[name].otherwise ?? [])
  const elsewhere = [...(brew ? [`brew install ${brew}`] : []), ...others].join(' && ')
  return `the tests need ${apt}; please type: sudo apt-get install ${apt}   or: ${elsewhere}`
}
