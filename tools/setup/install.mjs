import { mustRun } from './command.mjs'
import { fingerprint, isStamped, stamp } from './stamp.mjs'

const FILES = ['package-lock.json', 'package.json', 'server/package.json']

/** Installs what the lock file says, if that has changed since the last time. */
export async function install() {
  if (isStamped('install', fingerprint(FILES))) return
  console.log('installing dependencies (a minute, the first time)')
  // Not `npm ci`: it refuses a lock file that lacks the optional packages of this platform.
  const quietly = ['--no-audit', '--no-fund', '--no-progress']
  await mustRun('installing', 'npm', ['install', '--include=dev', ...quietly])
  stamp('install', fingerprint(FILES))
}
