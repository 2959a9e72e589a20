/** Archives that somebody else packed: read by entries, or unpacked into a folder that nothing in them gets out of. */
export { isArchiveName, unpackArchive } from "./unpack-archive.ts";
export { openZip, type ZipFile } from "./zip-file.ts";
