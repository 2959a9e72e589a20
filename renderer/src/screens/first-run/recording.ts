/** The bundled recording as its card describes it; tests/house holds it to the file. */
export const recordedPrompts = [392, 547, 838, 1146, 1221, 1337, 1632, 1714, 3742, 4093, 4337, 4461] as const;
/** The call whose request holds the cut tool result, by its number on the screen. */
export const cutCall = 9;
export const recordingKilobytes = 15;
