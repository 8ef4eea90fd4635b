// Yours to edit: where the data of a session go, and where the numbers come from that balance the lists. README.md says
// more. Without gardenpathSave the participant is given the data as a file. Take the slashes off the one you want.

// --- DataPipe (pipe.jspsych.org), which writes to your OSF project; allow it data, and as many conditions as there are assignments
// const EXPERIMENT = "your DataPipe experiment ID";
// async function pipe(path, body) {
//   const answer = await fetch(`https://pipe.jspsych.org/api/${path}/`, {
//     method: "POST",
//     headers: { "Content-Type": "application/json", Accept: "*/*" },
//     body: JSON.stringify({ experimentID: EXPERIMENT, ...body }),
//   });
//   const said = await answer.json().catch(() => ({}));
//   // A file that exists is this session's, whose answer was lost. What is thrown is tried again.
//   if (!answer.ok && !/FILE_EXISTS$/.test(said.error)) throw new Error(`${answer.status} ${said.error}`);
//   return said;
// }
// window.gardenpathSave = (json, { filename }) => pipe("data", { filename, data: json });
// window.gardenpathNextAssignment = async () => (await pipe("condition", {})).condition;

// --- a PHP script of your own (README.md has one)
// window.gardenpathSave = async (json, { filename }) => {
//   const answer = await fetch("save.php", {
//     method: "POST",
//     headers: { "Content-Type": "application/json" },
//     body: JSON.stringify({ filename, data: json }),
//   });
//   if (!answer.ok) throw new Error(String(answer.status));
// };
