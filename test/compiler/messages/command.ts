// The messages of `perilune generate` about its own arguments, in a folder with a valid folder `redis` and an empty
// one.

export interface Slip {
  readonly mistake: string
  readonly args: readonly string[]
  readonly says: string
}

export const SLIPS: readonly Slip[] = [
  {
    mistake: 'no file to write',
    args: ['generate', 'redis'],
    says: 'usage: perilune generate DIR --out FILE [--check] [--readable]\nperilune --help says more',
  },
  {
    mistake: 'a file that is no module',
    args: ['generate', 'redis', '--out', 'redis.js'],
    says: '--out must be a TypeScript module, such as redis.ts, not redis.js',
  },
  {
    mistake: 'a folder that does not exist',
    args: ['generate', 'rediss', '--out', 'redis.ts'],
    says: 'there is no folder rediss: write the folder that has <structure>/<operation>.lua',
  },
  {
    mistake: 'a folder without operations',
    args: ['generate', 'empty', '--out', 'redis.ts'],
    says: 'empty has no operations: write them as empty/<structure>/<operation>.lua',
  },
  {
    mistake: 'a module that is not there yet, in CI',
    args: ['generate', 'redis', '--out', 'redis.ts', '--check'],
    says: 'redis.ts differs: run perilune generate redis --out redis.ts',
  },
  {
    mistake: 'a readable module that is not there yet, in CI',
    args: ['generate', 'redis', '--out', 'redis.ts', '--check', '--readable'],
    says: 'redis.ts differs: run perilune generate redis --out redis.ts --readable',
  },
  {
    mistake: 'a folder for a file',
    args: ['generate', 'redis', '--out', 'taken.ts'],
    says: "cannot write taken.ts: EISDIR: illegal operation on a directory, open 'taken.ts'",
  },
]
